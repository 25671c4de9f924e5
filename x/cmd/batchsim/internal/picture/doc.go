// Package picture draws what happened in a simulation. It writes SVG files, and reports in HTML
// that need no other file. All pictures are legible on light and dark backgrounds.
package picture
