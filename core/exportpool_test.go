package core

// ListedWorkers returns how many workers p refers to.
func (p *Pool) ListedWorkers() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.workers)
}

// Launches returns how many calls of the spawner p takes to be in progress.
func (p *Pool) Launches() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.launches)
}
