// Where the texts stand: each page has its own catalogue beside it, loaded with the page; the rest is in src/locales.

import { defineConfig } from '@lingui/cli'
import { formatter } from '@lingui/format-po'

export default defineConfig({
  sourceLocale: 'en',
  locales: ['en', 'zh-CN'],
  catalogs: [
    {
      path: '<rootDir>/src/pages/{name}/locales/{locale}',
      include: ['<rootDir>/src/pages/{name}/'],
    },
    {
      path: '<rootDir>/src/locales/{locale}',
      include: ['<rootDir>/src/'],
      exclude: ['<rootDir>/src/pages/**'],
    },
  ],
  // package.json says where this is.
  runtimeConfigModule: { Trans: ['#trans', 'Trans'] },
  format: formatter({ lineNumbers: false, origins: false }),
})
