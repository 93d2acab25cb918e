// Loaded before every test file (`scripts/test.mjs`): a test that asserts nothing cannot fail, so it does.

import { beforeEach, expect } from 'bun:test'

beforeEach(() => expect.hasAssertions())
