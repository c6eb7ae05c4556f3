package recovery_test

import (
	"context"
	"fmt"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
)

func Example() {
	store, err := recovery.Open(recovery.Settings{})
	if err != nil {
		panic(err)
	}
	defer store.Close()
	id, err := store.Put(context.Background(), "one\ntwo\nthree\n")
	if err != nil {
		panic(err)
	}
	original, err := store.Get(context.Background(), id)
	if err != nil {
		panic(err)
	}
	lines, _, err := original.Page([]recovery.Range{{Start: 2, End: 3}}, true, 0)
	fmt.Println(lines, err)
	// Output:
	// 2│ two
	// 3│ three <nil>
}
