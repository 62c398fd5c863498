// Package cache loads values once and keeps them for a while. It is wrong: a load that
// began before Invalidate stores its value behind it.
package cache

import (
	"sync"
	"time"
)

type entry struct {
	value   string
	expires time.Time
}

type flight struct {
	done  chan struct{}
	value string
	err   error
}

type Cache struct {
	load    func(key string) (string, error)
	ttl     time.Duration
	mu      sync.RWMutex
	entries map[string]entry
	flights map[string]*flight
}

func New(ttl time.Duration, load func(string) (string, error)) *Cache {
	return &Cache{load: load, ttl: ttl, entries: map[string]entry{}, flights: map[string]*flight{}}
}

func (c *Cache) Get(key string) (string, error) {
	c.mu.RLock()
	e, ok := c.entries[key]
	c.mu.RUnlock()
	if ok && time.Now().Before(e.expires) {
		return e.value, nil
	}
	c.mu.Lock()
	if f, ok := c.flights[key]; ok {
		c.mu.Unlock()
		<-f.done
		return f.value, f.err
	}
	f := &flight{done: make(chan struct{})}
	c.flights[key] = f
	c.mu.Unlock()

	f.value, f.err = c.load(key)
	c.mu.Lock()
	delete(c.flights, key)
	c.mu.Unlock()
	close(f.done)
	if f.err == nil {
		c.mu.Lock()
		c.entries[key] = entry{f.value, time.Now().Add(c.ttl)}
		c.mu.Unlock()
	}
	return f.value, f.err
}

func (c *Cache) Invalidate(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.entries, key)
}
