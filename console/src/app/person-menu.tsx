// The menu of the signed-in person: name, theme, language, density, sign out.

import { useLingui } from '@lingui/react/macro'
import { useNavigate } from '@tanstack/react-router'
import { change } from '../api/client.ts'
import { type Person, queryClient } from '../api/queries.ts'
import { showLanguage } from '../i18n.ts'
import { forgetConversations } from '../state/conversations.ts'
import { setPreferences, usePreferences } from '../state/preferences.ts'
import { Menu, type MenuItem } from '../ui/menu.tsx'
import { showProblem } from '../ui/toast.tsx'

export default function PersonMenu({ person }: { readonly person: Person }) {
  const { t, i18n } = useLingui()
  const { theme, density } = usePreferences()
  const navigate = useNavigate()
  const isChinese = i18n.locale === 'zh-CN'
  const nextTheme = { system: 'light', light: 'dark', dark: 'system' } as const
  const themes = { system: t`Theme: system`, light: t`Theme: light`, dark: t`Theme: dark` }
  const items: readonly MenuItem[] = [
    { label: t`Settings`, onSelect: () => void navigate({ to: '/settings' }) },
    { label: themes[theme], onSelect: () => setPreferences({ theme: nextTheme[theme] }) },
    {
      label: isChinese ? 'English' : '中文',
      onSelect: () => {
        setPreferences({ language: isChinese ? 'en' : 'zh-CN' })
        void showLanguage()
      },
    },
    {
      label: density === 'compact' ? t`Comfortable rows` : t`Compact rows`,
      onSelect: () =>
        setPreferences({ density: density === 'compact' ? 'comfortable' : 'compact' }),
    },
    {
      label: t`Sign out`,
      onSelect: () => {
        change('post', '/api/auth/sign-out').then(() => {
          queryClient.clear()
          forgetConversations(person.id)
          location.assign('/console/sign-in')
        }, showProblem)
      },
    },
  ]
  const initial = firstLetter(person.name || person.id).toUpperCase()
  return (
    <Menu
      label={t`Account menu of ${person.name || person.id}`}
      trigger={
        <span className="flex size-7 items-center justify-center rounded-full bg-primary text-label text-on-primary">
          {initial}
        </span>
      }
      heading={<Who person={person} />}
      items={items}
    />
  )
}

/** Which of several accounts is signed in. */
function Who({ person: { name, email, id } }: { readonly person: Person }) {
  const lines = [...new Set([name, email, id])].filter((line) => line !== null && line !== '')
  return lines.map((line, index) => (
    <p
      key={line}
      className={index === 0 ? 'truncate font-medium' : 'truncate text-label text-text-2'}
    >
      {line}
    </p>
  ))
}

/** As it is read: an emoji may be several characters. */
function firstLetter(text: string): string {
  for (const { segment } of new Intl.Segmenter().segment(text.trim())) return segment
  return ''
}
