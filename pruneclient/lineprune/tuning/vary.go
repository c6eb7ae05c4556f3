//go:build tuning

package tuning

import (
	"reflect"
	"unsafe"
)

// Parameters are the ranking's numbers by name, to be changed in place. Only
// measurements see them, under the build tag tuning.
func Parameters() map[string]*float64 {
	out := map[string]*float64{}
	collect(out, "", reflect.ValueOf(&Rank).Elem())
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
