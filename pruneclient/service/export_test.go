package service

// Hold takes every slot, so that prunes wait, until release is called.
func (s *Service) Hold() (release func()) {
	for range cap(s.slots) {
		s.slots <- struct{}{}
	}
	return func() {
		for range cap(s.slots) {
			<-s.slots
		}
	}
}

// Documents are the passages a text is cut into.
func Documents(lines []string, relevance []float64, limit int) (texts []string, spans [][2]int) {
	for _, d := range documents(lines, askable(lines), relevance, limit) {
		texts = append(texts, d.text)
		spans = append(spans, [2]int{d.first + 1, d.last + 1})
	}
	return texts, spans
}
