// Starts the console: its language, then the router over the session's queries.

import { i18n } from '@lingui/core'
import { I18nProvider } from '@lingui/react'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { meQuery, queryClient } from './api/queries.ts'
import { createConsoleRouter } from './app/router.tsx'
import { loadCatalog } from './i18n.ts'
import './styles.css'

// The gateway also serves the console at `/`, where its address begins.
if (!location.pathname.startsWith('/console')) history.replaceState(null, '', '/console/')

// Every page first needs to know who is signed in.
void queryClient.prefetchQuery(meQuery)
const root = document.getElementById('root')
if (root === null) throw new Error('index.html has no #root')
await loadCatalog((language) => import(`./locales/${language}.po`))
createRoot(root).render(
  <StrictMode>
    <I18nProvider i18n={i18n}>
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={createConsoleRouter()} />
      </QueryClientProvider>
    </I18nProvider>
  </StrictMode>,
)
