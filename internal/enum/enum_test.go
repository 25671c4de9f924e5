package enum

import (
	"slices"
	"strings"
	"testing"
)

const colors = "red|green|light blue"

func TestString(t *testing.T) {
	for i, want := range []string{"red", "green", "light blue", "Color(3)"} {
		if got := String(colors, i, "Color"); got != want {
			t.Errorf("String(%d) = %q, want %q", i, got, want)
		}
		if text, err := Text(colors, i, "Color"); string(text) != want && i < 3 || (err != nil) != (i == 3) {
			t.Errorf("Text(%d) = %q, %v, want %q", i, text, err, want)
		}
	}
}

type color uint8

func TestRead(t *testing.T) {
	for text, want := range map[string]color{"": 0, "red": 0, "green": 1, "light blue": 2} {
		got := color(1)
		if err := Read(&got, colors, []byte(text), "color"); got != want || err != nil {
			t.Errorf("Read(%q): %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"Red", "blue", "red|green", "|"} {
		got := color(1)
		if err := Read(&got, colors, []byte(text), "color"); err == nil || !strings.HasPrefix(err.Error(), "color: ") || got != 1 {
			t.Errorf("Read(%q): %d, error %v", text, got, err)
		}
	}
}

func TestSets(t *testing.T) {
	const names = "Red|Green|Blue"
	const red, green, blue color = 1, 2, 3
	tests := []struct {
		text  string
		want  []color
		again string
		err   string
	}{
		{"", nil, "", ""},
		{"Red", []color{red}, "Red", ""},
		{"Blue,Red", []color{red, blue}, "Red,Blue", ""},
		{" Green , Red,Red, ", []color{green, red}, "Red,Green", ""},
		{"All", nil, "", `unknown name "All"`},
		{"Red,red", nil, "", `unknown name "red": want one of Red, Green, Blue`},
	}
	for _, test := range tests {
		var got Set[color]
		err := ReadSet(&got, names, []byte(test.text))
		if (err != nil) != (test.err != "") || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("ReadSet(%q): error %v, want %q", test.text, err, test.err)
		}
		if want := (Set[color]{}).With(names, test.want...); got != want {
			t.Errorf("ReadSet(%q) = %v, want %v", test.text, got, want)
		}
		if text := got.Text(names); text != test.again {
			t.Errorf("the text of %v is %q, want %q", got, text, test.again)
		}
		for m := red; m <= blue; m++ {
			without := got.Without(m)
			if got.Has(m) != slices.Contains(test.want, m) || without.Has(m) || got.Has(m) && without.With(names, m) != got {
				t.Errorf("%v: member %d is there: %t, and without it the set is %v", got, m, got.Has(m), without)
			}
		}
		if all := slices.Collect(got.All()); !slices.IsSorted(all) || (Set[color]{}).With(names, all...) != got {
			t.Errorf("%v has the members %v", got, all)
		}
	}

	if got := (Set[color]{}).With(names, 0, red, 4, blue, 63, 64, 255); got != (Set[color]{}).With(names, red, blue) {
		t.Errorf("numbers without a name are in %v", got)
	}
	for m := range (Set[color]{}).With(names, green, blue).All() {
		if m != green {
			t.Errorf("the first member is %d", m)
		}
		break
	}
}
