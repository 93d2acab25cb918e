// The command line as a separate process, with only the given environment.

import { join } from 'node:path'

/** As a user runs it. */
export const program = join(import.meta.dirname, '../../bin/tollgate')

export interface Ended {
  readonly code: number
  readonly out: string
  readonly err: string
}

export async function runCommand(
  args: readonly string[],
  folder: string,
  env: Record<string, string> = {},
): Promise<Ended> {
  const child = Bun.spawn([program, ...args], {
    cwd: folder,
    env: { PATH: process.env['PATH'] ?? '', ...env },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  return { code, out, err }
}
