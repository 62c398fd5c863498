package history_test

// The variants about descriptors that are ready; see TestVariants.

const (
	register1 = "g1 invoke register 1\ng1 return register 1 accepted\n"
	modify1   = "g1 invoke modify 1\n"
	modified1 = "g1 return modify 1 accepted\n"
	heard1    = "@5ms loop begin readiness 1\nloop end readiness 1\n"
	late1     = "V2 G12 registration 1 was ready at 1ms and its handler was not called until 5ms"
)

var readyVariants = []variant{
	{"ready and not told", "virtual", register1 + "@1ms g2 ready 1\n" + heard1, late1},
	{"ready while another changes the interest", "virtual", register1 + "@1ms " + modify1 + "g2 ready 1\n" + modified1 + heard1, ""},
	{"ready while another ends it", "virtual", register1 + "@1ms g1 invoke end 1\ng2 ready 1\n@5ms g1 return end 1 accepted\n", ""},
	{"the change says itself that it is ready", "virtual", register1 + "@1ms " + modify1 + "g1 ready 1\n" + modified1 + heard1, late1},
	{"ready behind the change", "virtual", register1 + modify1 + modified1 + "@1ms g2 ready 1\n" + heard1, late1},
	{"ready and changed later", "virtual", register1 + "@1ms g2 ready 1\n" + modify1 + modified1 + heard1, ""},
	{"another one is changed", "virtual", register1 + "g1 invoke register 2\ng1 return register 2 accepted\n@1ms g1 invoke modify 2\ng2 ready 1\ng1 return modify 2 accepted\n" + heard1, late1},
	{"a fault before it", "virtual", "g2 fault error\n" + register1 + "@1ms g2 ready 1\n" + heard1, late1},
	{"a fault before it that may be for good", "virtual breaks", "g2 fault error\n" + register1 + "@1ms g2 ready 1\n" + heard1, ""},
}
