// Package cores tests the C cores of the data root and holds no code of its
// own: how they compile, what they compute, whether they stay within their
// buffers, how they treat wrong arguments, where their constants come from, and
// how fast they are against OpenSSL.
package cores
