// Requests the affected data again when a group has changed.

import type { QueryClient } from '@tanstack/react-query'

const asked = /^\/api\/(configuration\/groups|groups|models)/

export function refreshGroups(client: QueryClient): Promise<void> {
  return client.invalidateQueries({
    predicate: ({ queryKey: [path] }) => asked.test(String(path)),
  })
}
