// Loaded before every test file (`scripts/test.mjs`): a test without an assertion cannot fail, so it is made to fail.

import { beforeEach, expect } from 'bun:test'

beforeEach(() => expect.hasAssertions())
