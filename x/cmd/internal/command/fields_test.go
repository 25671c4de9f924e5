package command

import (
	"reflect"
	"testing"
)

func TestDidYouMean(t *testing.T) {
	type head struct {
		Kind string `json:"kind,omitempty"`
	}
	type container struct {
		Image string   `json:"image"`
		Args  []string `json:"args"`
	}
	type object struct {
		head `json:",inline"`
		Spec *struct {
			BackoffLimit *int32      `json:"backoffLimit"`
			Containers   []container `json:"containers"`
		} `json:"spec"`
	}
	for path, want := range map[string]string{
		"spec.backofLimit":         "; did you mean backoffLimit?",
		"spec.backofflimit":        "; did you mean backoffLimit?",
		"spec.containers[1].imgae": "; did you mean image?",
		"knd":                      "; did you mean kind?",
		"spec.colour":              "",
		"spec.nothing.imgae":       "",
		"spec.backoffLimit.x":      "",
		"":                         "",
	} {
		if got := DidYouMean(reflect.TypeFor[object](), path); got != want {
			t.Errorf("%q: %q, want %q", path, got, want)
		}
	}
}
