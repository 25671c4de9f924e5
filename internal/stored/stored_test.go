package stored

import "testing"

func TestRead(t *testing.T) {
	tests := []struct {
		data    string
		want    int
		problem string
	}{
		{"", 0, ""},
		{" null ", 0, ""},
		{`{"formatVersion":2,"n":7}`, 7, ""},
		{`{"formatVersion":3,"n":7}`, 0, "its format has version 3, not 2"},
		{`{"n":7}`, 0, "its format has version 0, not 2"},
		{`{"formatVersion":2,"n":"7"}`, 0, "json: cannot unmarshal string into Go struct field .n of type int"},
		{`[]`, 0, "json: cannot unmarshal array into Go value of type struct { FormatVersion int \"json:\\\"formatVersion\\\"\" }"},
		{`{`, 0, "unexpected end of JSON input"},
	}
	for _, tc := range tests {
		var out struct {
			N int `json:"n"`
		}
		if problem := Read([]byte(tc.data), 2, &out); problem != tc.problem || problem == "" && out.N != tc.want {
			t.Errorf("%s: read %d, problem %q, want %d, %q", tc.data, out.N, problem, tc.want, tc.problem)
		}
	}
}
