package recovery

import "context"

// PutAs stores a text under an id that the test chooses.
func (s *Store) PutAs(ctx context.Context, id, text string) error {
	_, err := s.put(ctx, id, text)
	return err
}

// MaxMisses is the number of wrong ids after which a subject finds none.
const MaxMisses = maxMisses
