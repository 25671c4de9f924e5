package mistakes

import (
	"strings"
	"testing"

	"github.com/batchplan/batchplan/x/cmd/internal/manifest"
)

// TestMistakes: each mistake has its sentence, with its position. A good object beside it is read.
func TestMistakes(t *testing.T) {
	for _, test := range all {
		t.Run(test.name, func(t *testing.T) {
			if !strings.Contains(test.text, test.from) {
				t.Fatalf("%q is not in the good text", test.from)
			}
			text, read := strings.Replace(test.text, test.from, test.to, 1), 0
			take := func(o *manifest.Object) error {
				if wrong := o.Judge(); len(wrong) > 0 {
					return wrong
				}
				read++
				return nil
			}
			got := ""
			if err := manifest.Read("f.yaml", strings.NewReader(text), take); err != nil {
				got = err.Error()
			}
			if got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			if want := test.want == ""; want != (read == 1) {
				t.Errorf("%d objects", read)
			}

			// The good documents before and after are read.
			if test.text == jobText || test.text == cronText {
				read = 0
				_ = manifest.Read("f.yaml", strings.NewReader(jobText+"---\n"+text+"---\n"+cronText), take)
				if read < 2 {
					t.Errorf("%d objects", read)
				}
			}
		})
	}
}
