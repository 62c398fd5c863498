package transport

// HandlerBase has the handler methods that all transports share, for channels of type C.
// They do nothing.
type HandlerBase[C any] struct{}

// Active does nothing.
func (HandlerBase[C]) Active(C) {}

// Read does nothing: the input is dropped.
func (HandlerBase[C]) Read(C, []byte) {}

// ReadComplete does nothing.
func (HandlerBase[C]) ReadComplete(C) {}

// InputShutdown does nothing.
func (HandlerBase[C]) InputShutdown(C) {}

// Inactive does nothing.
func (HandlerBase[C]) Inactive(C) {}

// Unregistered does nothing.
func (HandlerBase[C]) Unregistered(C) {}

// Error does nothing: the channel is closed in any case.
func (HandlerBase[C]) Error(C, error) {}
