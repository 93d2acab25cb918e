// After a change: everything that is shown of keys is asked again.

import type { QueryClient } from '@tanstack/react-query'

export function refreshKeys(client: QueryClient): void {
  void client.invalidateQueries({
    predicate: ({ queryKey: [path] }) => /^\/api\/(management-)?keys/.test(String(path)),
  })
}
