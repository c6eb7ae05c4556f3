package audit

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A report lists the last records, not the first ones, in their order.
func TestTheLastRecordsAreKept(t *testing.T) {
	for n, want := range map[int]string{0: "[]", 2: "[0 1]", 3: "[0 1 2]", 4: "[1 2 3]", 7: "[4 5 6]", 9: "[6 7 8]"} {
		last := recent{most: 3}
		for i := range n {
			last.add(&Entry{ID: fmt.Sprint(i)}, Saving{})
		}
		ids := []string{}
		for _, r := range last.inOrder() {
			ids = append(ids, r.ID)
		}
		assert.Equal(t, want, fmt.Sprint(ids))
	}
}
