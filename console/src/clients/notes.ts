// Notes that people should read before they paste a client's configuration.

import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'

export const clientNotes: Readonly<Record<string, MessageDescriptor>> = {
  'claude-code': msg`The address has no /v1: Claude Code adds it.`,
  'gemini-cli': msg`The address has no path: Gemini CLI adds /v1beta.`,
  codex: msg`Codex speaks the Responses format alone; any chat model of the gateway answers it.`,
  cursor: msg`Cursor calls from its own servers: the address must be reachable by public HTTPS. Names that begin with claude or gemini are sent elsewhere.`,
  llamaindex: msg`The plain OpenAI class of LlamaIndex refuses models it does not know by name.`,
  cline: msg`Either in the editor or by the command line. Roo Code and Kilo Code have the same fields.`,
  opencode: msg`OpenCode has to be told each model: add more under models.`,
  continue: msg`State the capabilities explicitly: otherwise Continue guesses them from names it knows.`,
  n8n: msg`The OpenAI node calls Responses, which the gateway serves too.`,
  dify: msg`Install the plugin OpenAI-API-compatible first.`,
}
