package clearing

import (
	"container/list"
	"maps"
	"slices"
)

// whose is a session of a subject.
type whose struct{ subject, session string }

// kept has a value for each of the latest sessions. Of what is too much, the subject that has most loses its least recently used session.
type kept[V any] struct {
	sum      int // of the sizes
	all      map[whose]*list.Element
	subjects map[string]*share
}

// share is what a subject has, the latest session last.
type share struct {
	order list.List
	size  int
}

type one[V any] struct {
	whose
	value V
	size  int
}

func (k *kept[V]) get(w whose) (v V, ok bool) {
	e, ok := k.all[w]
	if ok {
		k.subjects[w.subject].order.MoveToBack(e)
		v = e.Value.(one[V]).value
	}
	return v, ok
}

// put replaces the value of a session, and returns those that it made forgotten, because the sum of the sizes would be above a limit.
func (k *kept[V]) put(w whose, v V, size, limit int) (gone []V) {
	if k.all == nil {
		k.all, k.subjects = make(map[whose]*list.Element), make(map[string]*share)
	}
	k.drop(w)
	s := k.subjects[w.subject]
	if s == nil {
		s = new(share)
		k.subjects[w.subject] = s
	}
	k.all[w] = s.order.PushBack(one[V]{w, v, size})
	for s.size, k.sum = s.size+size, k.sum+size; k.sum > limit && len(k.all) > 1; {
		most := slices.MaxFunc(slices.Collect(maps.Values(k.subjects)), func(a, b *share) int { return a.size - b.size })
		gone = append(gone, k.drop(most.order.Front().Value.(one[V]).whose))
	}
	return gone
}

// drop forgets a session, and returns its value.
func (k *kept[V]) drop(w whose) (v V) {
	e, ok := k.all[w]
	if !ok {
		return v
	}
	s := k.subjects[w.subject]
	o := s.order.Remove(e).(one[V])
	delete(k.all, w)
	if s.size, k.sum = s.size-o.size, k.sum-o.size; s.order.Len() == 0 {
		delete(k.subjects, w.subject)
	}
	return o.value
}
