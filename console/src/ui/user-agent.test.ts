// Tests the application and system that are read from headers as real clients send them.

import { expect, test } from 'bun:test'
import { applicationOf } from './user-agent.ts'

const chrome = 'AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36'
const windows = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64)'
const mac = 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)'
const iphone = 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15'
const android = 'Mozilla/5.0 (Linux; Android 15; K)'

test.each([
  [`${windows} ${chrome}`, 'Chrome 141 Windows'],
  [`${windows} ${chrome} Edg/141.0.0.0`, 'Edge 141 Windows'],
  [`${mac} ${chrome} OPR/122.0.0.0`, 'Opera 122 macOS'],
  [`${android} ${chrome.replace('Safari', 'Mobile Safari')}`, 'Chrome 141 Android'],
  ['Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0', 'Firefox 143 Linux'],
  [
    `${mac} AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Safari/605.1.15`,
    'Safari 18 macOS',
  ],
  [`${iphone} (KHTML, like Gecko) Version/18.6 Mobile/15E148 Safari/604.1`, 'Safari 18 iOS'],
  [`${iphone} (KHTML, like Gecko) CriOS/141.0 Mobile/15E148 Safari/604.1`, 'Chrome 141 iOS'],
  [`${iphone} (KHTML, like Gecko) Mobile/15E148 MicroMessenger/8.0.61`, 'WeChat 8 iOS'],
  [
    `${mac} AppleWebKit/537.36 (KHTML, like Gecko) CherryStudio/1.6.2 Chrome/138.0 Electron/37.4 Safari/537.36`,
    'CherryStudio 1.6.2 macOS',
  ],
  ['Mozilla/5.0 (compatible)', 'null null null'],
  ['browser', 'null null null'],
  ['claude-cli/2.0.14 (external, cli)', 'Claude Code 2.0.14 null'],
  ['claude-code/2.0.14', 'Claude Code 2.0.14 null'],
  ['codex_cli_rs/0.46.0 (Mac OS 15.6; arm64) iTerm', 'Codex CLI 0.46.0 null'],
  ['OpenAI/Python 2.3.0', 'OpenAI SDK (Python) 2.3.0 null'],
  ['openai-python/2.3.0', 'OpenAI SDK (Python) 2.3.0 null'],
  ['AsyncOpenAI/Python 2.3.0', 'OpenAI SDK (Python) 2.3.0 null'],
  ['curl/8.14.1', 'curl 8.14.1 null'],
  ['node', 'node null null'],
])('%s', (userAgent, expected) => {
  const found = applicationOf(userAgent)
  expect(`${found?.name} ${found?.version} ${found?.system}`).toBe(expected)
})

test('what begins with no name is not taken for one', () => {
  expect(applicationOf('(unknown)')).toBeNull()
})
