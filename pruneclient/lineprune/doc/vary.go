//go:build tuning

package doc

import (
	"reflect"
	"unsafe"
)

// Parameters returns pointers to the constants of the ranking by name, so that measurements can change
// them. It exists only under the build tag tuning.
func Parameters() map[string]*float64 {
	out := map[string]*float64{}
	collect(out, "", reflect.ValueOf(&Ranking).Elem())
	return out
}

func collect(out map[string]*float64, prefix string, v reflect.Value) {
	for i := range v.NumField() {
		name := prefix + v.Type().Field(i).Name
		if v.Field(i).Kind() == reflect.Struct {
			collect(out, name+".", v.Field(i))
			continue
		}
		out[name] = (*float64)(unsafe.Pointer(v.Field(i).UnsafeAddr())) // the fields are not exported
	}
}
