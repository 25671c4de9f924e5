package job

import (
	"errors"
	"fmt"

	"github.com/batchplan/batchplan/internal/value"
)

// problems are what is wrong with the fields of a spec or a status, in the order in which
// they were found. The path of a field begins where the check begins.
type problems []InputError

func (p *problems) add(field string, v any, problem string) {
	*p = append(*p, InputError{Field: field, Value: value.Text(v), Problem: problem})
}

// addIn adds the problems of what is at the path.
func (p *problems) addIn(path string, of problems) {
	for _, problem := range of {
		problem.Field = path + problem.Field
		*p = append(*p, problem)
	}
}

// addAt adds the problems of an item of the list at the path.
func (p *problems) addAt(list string, i int, of problems) {
	if len(of) > 0 {
		p.addIn(fmt.Sprintf("%s[%d]", list, i), of)
	}
}

// err joins an error for each problem, nil if there is none. The path of each field begins
// with the prefix.
func (p problems) err(prefix string) error {
	all := make([]error, len(p))
	for i, problem := range p {
		problem.Field = prefix + problem.Field
		all[i] = &problem
	}
	return errors.Join(all...)
}
