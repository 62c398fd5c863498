package core

// ListedWorkers returns how many workers p refers to.
func (p *Pool) ListedWorkers() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.workers)
}
