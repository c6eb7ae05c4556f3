package lineprune_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune"
)

func ExamplePrune() {
	log := strings.Repeat("INFO heartbeat ok\n", 200) + "ERROR connection to db-7 refused\n" + strings.Repeat("INFO heartbeat ok\n", 200)
	res, err := lineprune.Prune(context.Background(), log, "which connection was refused", lineprune.Auto, lineprune.Options{})
	if err != nil {
		panic(err)
	}
	for _, n := range res.Kept {
		if line := strings.Split(log, "\n")[n-1]; strings.HasPrefix(line, "ERROR") {
			fmt.Println(n, line)
		}
	}
	fmt.Println(len(res.Kept) < 100)
	// Output:
	// 201 ERROR connection to db-7 refused
	// true
}
