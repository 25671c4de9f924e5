package nearest

import "testing"

func TestName(t *testing.T) {
	names := []string{"backoffLimit", "backoffLimitPerIndex", "completions", "parallelism", "cpu"}
	for name, want := range map[string]string{
		"backofLimit": "backoffLimit", "backofflimit": "backoffLimit", "backoffLimitPerIdnex": "backoffLimitPerIndex",
		"paralelism": "parallelism", "compeltions": "completions", "cp": "cpu", "gpu": "cpu", "memory": "", "x": "", "": "",
	} {
		if have := Name(name, names); have != want {
			t.Errorf("%q: %q, want %q", name, have, want)
		}
	}
}
