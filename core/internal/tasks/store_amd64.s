//go:build gc && !purego && !race && !interleave

#include "textflag.h"

// func store(p *atomic.Uint64, v uint64, ordered bool)
TEXT ·store(SB), NOSPLIT, $0-17
	MOVQ    p+0(FP), AX
	MOVQ    v+8(FP), CX
	CMPB    ordered+16(FP), $0
	JNE     locked
	MOVQ    CX, (AX)
	RET
locked:
	XCHGQ   CX, (AX)
	RET
