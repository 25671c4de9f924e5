// Package problems collects problems with the fields of a spec or a status.
package problems

import (
	"errors"
	"fmt"

	"github.com/batchplan/batchplan/internal/value"
)

// Problem is a problem with a field. It has the fields of job.InputError, to which it is converted.
type Problem struct {
	Field, Value, Problem string
	Err                   error
}

// List holds problems in the order in which they were found. The path of a field begins at the
// value that is checked.
type List []Problem

// Add adds a problem.
func (l *List) Add(field string, v any, problem string) {
	*l = append(*l, Problem{Field: field, Value: value.Text(v), Problem: problem})
}

// AddIn adds the problems of the value at the path.
func (l *List) AddIn(path string, of List) {
	for _, problem := range of {
		problem.Field = path + problem.Field
		*l = append(*l, problem)
	}
}

// AddAt adds the problems of an item of the list at the path.
func (l *List) AddAt(list string, i int, of List) {
	if len(of) > 0 {
		l.AddIn(fmt.Sprintf("%s[%d]", list, i), of)
	}
}

// like matches the error types with the fields of a Problem, so that a Problem can be converted.
type like interface {
	~struct {
		Field, Value, Problem string
		Err                   error
	}
}

// inputError is a pointer to such a type, and implements error.
type inputError[E any] interface {
	*E
	error
}

// New returns the error for one problem.
func New[E like, P inputError[E]](field string, v any, problem string) error {
	e := E(Problem{Field: field, Value: value.Text(v), Problem: problem})
	return P(&e)
}

// Join joins an error of type *E for each problem, nil if there is none. The path of each field
// begins with the prefix.
func Join[E like, P inputError[E]](prefix string, found List) error {
	all := make([]error, len(found))
	for i, problem := range found {
		problem.Field = prefix + problem.Field
		e := E(problem)
		all[i] = P(&e)
	}
	return errors.Join(all...)
}

// Concat returns one error that joins all the errors that its arguments join.
func Concat(joined ...error) error {
	var all []error
	for _, err := range joined {
		all = append(all, Split(err)...)
	}
	return errors.Join(all...)
}

// Split returns the errors that an error joins.
func Split(joined error) []error {
	if err, ok := joined.(interface{ Unwrap() []error }); ok {
		return err.Unwrap()
	}
	return nil
}
