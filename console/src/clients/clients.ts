// Every client that people are shown how to set up, in the order they are listed.

import { aiSdk } from './ai-sdk.ts'
import { aider } from './aider.ts'
import { claudeCode } from './claude-code.ts'
import type { Client } from './client.ts'
import { cline } from './cline.ts'
import { codex } from './codex.ts'
import { continueDev } from './continue.ts'
import { curl } from './curl.ts'
import { cursor } from './cursor.ts'
import { dify } from './dify.ts'
import { geminiCli } from './gemini-cli.ts'
import { langchain } from './langchain.ts'
import { librechat } from './librechat.ts'
import { llamaindex } from './llamaindex.ts'
import { n8n } from './n8n.ts'
import { openWebui } from './open-webui.ts'
import { openaiGo } from './openai-go.ts'
import { openaiJs } from './openai-js.ts'
import { openaiPython } from './openai-python.ts'
import { opencode } from './opencode.ts'

export const clients: readonly Client[] = [
  ...[curl, openaiPython, openaiJs, openaiGo, aiSdk, langchain, llamaindex],
  ...[claudeCode, codex, geminiCli, cursor, cline, opencode, continueDev, aider],
  ...[openWebui, librechat, n8n, dify],
]
