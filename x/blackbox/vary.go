package blackbox

import (
	"encoding/json"
	"maps"
	"slices"

	"k8s.io/kube-openapi/pkg/validation/spec"
)

// variations returns merge patches for an object. Each patch changes one field of the spec,
// according to the schema. The API may refuse some of the patches.
func variations(s *spec.Schema, of any) (patches []string) {
	eachVariation(s, of, 4, func(v any) {
		if data, err := json.Marshal(map[string]any{"spec": v}); err == nil {
			patches = append(patches, string(data))
		}
	})
	return patches
}

// eachVariation calls do with other values for a field. Its present value is the argument of. If
// the field is an object, do gets merge patches.
func eachVariation(s *spec.Schema, of any, depth int, do func(any)) {
	if depth == 0 {
		return
	}
	for _, choice := range s.Enum {
		if choice != of {
			do(choice)
		}
	}
	if len(s.Enum) > 0 {
		return
	}

	switch {
	case s.Type.Contains("object"):
		fields, _ := of.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			property := s.Properties[name]
			change := func(v any) { do(map[string]any{name: v}) }
			v, has := fields[name]
			if has && !slices.Contains(s.Required, name) {
				change(nil)
			}
			if !has && property.Type.Contains("object") {
				change(sample(&property, 3))
				continue
			}
			eachVariation(&property, v, depth-1, change)
		}
	case s.Type.Contains("array"):
		items, _ := of.([]any)
		if len(items) > 0 {
			do([]any{})
			do(append(slices.Clone(items), items[0]))
			do(items[:len(items)-1])
		} else if s.Items != nil && s.Items.Schema != nil {
			do([]any{sample(s.Items.Schema, 3)})
		}
	case s.Type.Contains("boolean"):
		is, _ := of.(bool)
		do(!is)
	case s.Type.Contains("integer"), s.Type.Contains("number"):
		for _, n := range numbers(s, of) {
			do(n)
		}
	case s.Type.Contains("string"):
		for _, text := range []string{"", "x"} {
			if text != of {
				do(text)
			}
		}
	}
}

// numbers returns a few other numbers near the given one and the limits.
func numbers(s *spec.Schema, of any) (numbers []float64) {
	n, _ := of.(float64)
	numbers = []float64{n + 1, n - 1, 0, -1}
	if s.Minimum != nil {
		numbers = append(numbers, *s.Minimum, *s.Minimum-1)
	}
	if s.Maximum != nil && *s.Maximum <= 100 {
		numbers = append(numbers, *s.Maximum)
	}
	slices.Sort(numbers)
	return slices.DeleteFunc(slices.Compact(numbers), func(m float64) bool { return m == of })
}

// sample returns a small value that the schema most likely admits.
func sample(s *spec.Schema, depth int) any {
	switch {
	case s.Default != nil:
		return cloneValue(s.Default)
	case len(s.Enum) > 0:
		return s.Enum[0]
	case s.Type.Contains("object"):
		fields := make(map[string]any)
		for _, name := range s.Required {
			if property, has := s.Properties[name]; has && depth > 0 {
				fields[name] = sample(&property, depth-1)
			}
		}
		return fields
	case s.Type.Contains("array"):
		return []any{}
	case s.Type.Contains("boolean"):
		return true
	case s.Type.Contains("integer"), s.Type.Contains("number"):
		if s.Minimum != nil {
			return *s.Minimum
		}
		return 1.0
	}
	return "x"
}
