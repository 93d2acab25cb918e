// Sets up the schema library to check one file only; to be imported before anything that makes a schema.

import { z } from 'zod'

z.config({
  // Compiled code for a section would run only once.
  jitless: true,
  // No section contains itself, so the search for cycles is not needed.
  memoizer: {
    attach: () => undefined,
    guard: () => undefined,
    alloc: (_schema, _payload, empty) => empty,
  },
})
