// A clone of the checkout with a small stand-in for the console, to test how it is built and served, not its content.

import { expect } from 'bun:test'
import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ServerOptions, type ServerProcess, startServer } from '../support/server-process.ts'

const root = join(import.meta.dir, '../..')
const parts = ['bin', 'scripts', 'src', 'package.json', 'package-lock.json', 'config.schema.json']

export interface Clone {
  readonly folder: string
  /** Replaces the console by one with this title; one whose title begins with `broken` cannot be built. */
  write(title: string): void
  /** The number of builds that have begun, and the process of the last. */
  builds(): number
  lastBuild(): number
  /** Builds wait from now on until the returned function is called. */
  hold(): () => Promise<void>
  /** Starts a server of this clone; it is ended with the clone. */
  start(options?: ServerOptions & { dataDir?: string }): Promise<ServerProcess>
  remove(): Promise<void>
}

export function makeClone(): Clone {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-clone-'))
  // Sources are only read, so a clone may share them with the checkout.
  for (const part of parts)
    cpSync(join(root, part), join(folder, part), { recursive: true, preserveTimestamps: true })
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  cpSync(join(import.meta.dir, 'stand-in'), join(folder, 'console'), { recursive: true })
  mkdirSync(join(folder, 'tmp'))
  const servers: ServerProcess[] = []
  const counted = join(folder, 'tmp/builds')
  const gate = join(folder, 'tmp/gate')
  const begun = () => (existsSync(counted) ? readFileSync(counted, 'utf8').trim().split('\n') : [])
  return {
    folder,
    write: (title) => writeFileSync(join(folder, 'console/title.txt'), `${title}\n`),
    builds: () => begun().length,
    lastBuild: () => Number(begun().at(-1)),
    hold() {
      expect(spawnSync('mkfifo', [gate]).status).toBe(0)
      return async () => {
        const opened = Bun.spawn(['sh', '-c', 'echo > "$0"', gate])
        await opened.exited
        rmSync(gate)
      }
    },
    async start({ dataDir, env, ...options } = {}) {
      const server = await startServer(dataDir, {
        ...options,
        // No program is made, since that takes seconds and is not tested here.
        env: {
          LOG_LEVEL: 'info',
          TOLLGATE_SOURCES: '1',
          ...env,
          TOLLGATE_CONSOLE: env?.['TOLLGATE_CONSOLE'] ?? 'on',
        },
        command: join(folder, 'bin/tollgate'),
      })
      servers.push(server)
      return server
    },
    async remove() {
      for (const server of servers) {
        await server.kill()
        server.remove()
      }
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
