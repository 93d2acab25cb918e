// The channels there are, asked as one list: they are few, and filters and sums of states need all of them.

import { type QueryClient, useQuery } from '@tanstack/react-query'
import { get, type Shape } from '../../api/client.ts'

export type Channel = Shape<'Channel'>

const refreshMs = 10_000
const pageRows = 500

export function useChannels() {
  return useQuery({
    queryKey: ['/api/channels'],
    queryFn: async ({ signal }) => {
      const found: Channel[] = []
      let cursor: string | null = null
      do {
        const query = { limit: pageRows, ...(cursor !== null && { cursor }) }
        const page: { readonly items: readonly Channel[]; readonly next: string | null } =
          await get('/api/channels', { params: { query } }, signal)
        found.push(...page.items)
        cursor = page.next
      } while (cursor !== null)
      return found
    },
    // How channels do changes by itself.
    refetchInterval: refreshMs,
  })
}

/** After a change: whatever is shown of channels is asked again. Resolves once it is there. */
export function refreshChannels(client: QueryClient): Promise<void> {
  return client.invalidateQueries({
    predicate: ({ queryKey: [path] }) => String(path).startsWith('/api/channels'),
  })
}

/** What the file, the environment or the gateway itself declares is not changed here. */
export function isStored(channel: Channel): boolean {
  return channel.origin === 'stored'
}
