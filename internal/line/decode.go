package line

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// Decode reads the JSON of a step into a value, and leaves alone what the JSON does not mention. A
// field that the value does not have is an error with its path, such as podFailurePolicy.rules[0].acton.
// So is a field that occurs twice, or in other letters. What a type reads by itself is not checked.
func Decode(text string, into any) error {
	if err := json.Unmarshal([]byte(text), into); err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	return checkFields(d, "", reflect.TypeOf(into))
}

// checkFields consumes one value of valid JSON that fits a type.
func checkFields(d *json.Decoder, path string, t reflect.Type) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	isOwn := reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]())
	if isOwn || t.Kind() == reflect.Interface {
		return d.Decode(new(json.RawMessage))
	}

	token, err := d.Token()
	switch {
	case err != nil:
		return err
	case token == json.Delim('['):
		for i := 0; d.More(); i++ {
			if err := checkFields(d, fmt.Sprintf("%s[%d]", path, i), t.Elem()); err != nil {
				return err
			}
		}
	case token == json.Delim('{'):
		if err := checkObject(d, path, t); err != nil {
			return err
		}
	default:
		return nil
	}
	_, err = d.Token() // the end of the list or object
	return err
}

// checkObject consumes the fields of an object.
func checkObject(d *json.Decoder, path string, t reflect.Type) error {
	seen := make(map[string]bool)
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return err
		}

		name, _ := token.(string)
		at := strings.TrimPrefix(path+"."+name, ".")
		of, ok := typeOf(t, name)
		switch {
		case !ok:
			return fmt.Errorf("%s: no such field", at)
		case seen[name]:
			return fmt.Errorf("%s: occurs twice", at)
		}
		seen[name] = true
		if err := checkFields(d, at, of); err != nil {
			return err
		}
	}
	return nil
}

// typeOf returns the type of a field. ok is false if there is no such field.
func typeOf(t reflect.Type, name string) (of reflect.Type, ok bool) {
	if t.Kind() == reflect.Map {
		return t.Elem(), true
	}
	for i := range t.NumField() {
		f := t.Field(i)
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Tag.Get("json") == "-": // the JSON does not have it
		case f.Anonymous && tag == "" && f.Type.Kind() == reflect.Struct:
			if of, ok := typeOf(f.Type, name); ok {
				return of, true
			}
		case tag == name, tag == "" && f.Name == name && f.IsExported():
			return f.Type, true
		}
	}
	return nil, false
}
