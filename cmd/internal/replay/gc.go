package replay

// clear is what the planner would have cleared.
func (f *figures) clear() cleared { return cleared{input: f.input} }
