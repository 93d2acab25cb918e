// Requests the affected data again when a group has changed.

import type { QueryClient } from '@tanstack/react-query'

const asked = ['/api/configuration/groups', '/api/groups', '/api/groups/uses', '/api/models']

export async function refreshGroups(client: QueryClient): Promise<void> {
  await Promise.all(
    [...asked, '/api/groups/{id}/versions'].map((path) =>
      client.invalidateQueries({ queryKey: [path] }),
    ),
  )
}
