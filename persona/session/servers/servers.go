// Package servers lets a session use MCP servers that a person configured: it
// starts them, holds them to what they may do, and gives their tools to whoever
// runs the session.
//
// A server is a stranger's program. Nothing that it says is believed: its tools
// are named by odd, their descriptions and schemas are data of a bounded size,
// and every tool counts as one that changes something unless a person says
// otherwise.
package servers
