// A real browser: Debian's Chromium, if the machine has it.

import { type Browser, chromium } from 'playwright-core'

/** Its path, as the test script found or installed it; null: tests in a browser are left out. */
export const chromiumPath =
  Bun.env['TEST_CHROMIUM'] || Bun.which('chromium-headless-shell') || Bun.which('chromium')

const quiet = [
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

export function startBrowser(executablePath: string): Promise<Browser> {
  // Root may run it only without its sandbox.
  const args = process.getuid?.() === 0 ? [...quiet, '--no-sandbox'] : quiet
  return chromium.launch({ executablePath, args })
}
