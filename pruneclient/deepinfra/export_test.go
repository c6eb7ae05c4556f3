package deepinfra

// Waiting counts the callers that wait for a call under way.
func (c *Client) Waiting() int {
	c.cache.mu.Lock()
	defer c.cache.mu.Unlock()
	n := 0
	for _, f := range c.cache.flights {
		n += f.waiters
	}
	return n
}
