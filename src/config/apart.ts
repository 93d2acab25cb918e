// Checks a configuration file in a short-lived process, so that the server does not keep YAML and the schema in memory.

import { spawn } from 'node:child_process'
import { argumentsFor } from '../installation.ts'
import type { Checked, Question } from './check.ts'
import type { Environment } from './settings.ts'

/** As `checkText` of check.ts. Rejects where the process fails. */
export async function checkText(question: Question, env: Environment): Promise<Checked> {
  const child = spawn(process.execPath, argumentsFor('check-configuration', []), {
    env: { ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const chunks: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
  const { promise, resolve, reject } = Promise.withResolvers<number | null>()
  child.on('error', reject)
  child.on('close', resolve)
  child.stdin.end(JSON.stringify(question))
  const code = await promise
  if (code !== 0) throw new Error(`the check of the configuration ended with ${code}`)
  return JSON.parse(Buffer.concat(chunks).toString('utf8')) as Checked
}
