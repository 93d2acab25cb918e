// `tollgate serve`: runs the server, in this process or with worker processes.

import { moduleAt } from '../installation.ts'
import type { Command } from './command.ts'

type Main = (argv: string[]) => Promise<void>

export const serve: Command = {
  name: 'serve',
  words: [],
  summary: 'run the server',
  json: false,
  options: {
    port: { type: 'string', value: 'N', help: 'port to listen on (PORT, 8787)' },
    host: { type: 'string', value: 'H', help: 'address to listen on (HOST, 127.0.0.1)' },
    workers: { type: 'string', value: 'N', help: 'serving processes (TOLLGATE_WORKERS, 1)' },
    'no-console': { type: 'boolean', help: 'do not build or serve the console' },
  },
  async run({ flags }) {
    const names = ['config', 'data', 'port', 'host', 'workers'] as const
    const argv = names.flatMap((name) => {
      const value = flags.text(name)
      return value === undefined ? [] : [`--${name}=${value}`]
    })
    // Imported by its address: the server is no lower layer that the command line may build on.
    const server = moduleAt(new URL('../main.ts', import.meta.url))
    const { main }: { main: Main } = await import(String(server))
    await main(flags.has('no-console') ? [...argv, '--no-console'] : argv)
    return undefined
  },
}
