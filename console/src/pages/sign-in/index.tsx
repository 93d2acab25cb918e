// Sign in: the providers of this gateway, what they are asked for, and why a sign-in was refused.

import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { type ReactNode, useEffect, useState } from 'react'
import { read } from '../../api/client.ts'
import { useMe } from '../../api/queries.ts'
import { CodeBlock } from '../../clients/code-block.tsx'
import { type Catalog, showLanguage } from '../../i18n.ts'
import { setPreferences, usePreferences } from '../../state/preferences.ts'
import { buttonClass } from '../../ui/button.tsx'
import { Field, Input, Segments } from '../../ui/field.tsx'
import { Skeleton, Widget } from '../../ui/state.tsx'
import { Refusal } from './refusal.tsx'
import { ownPath, signInAddress } from './return-to.ts'

export const catalog: Catalog = (language) => import(`./locales/${language}.po`)

export default function SignInPage() {
  const { t } = useLingui()
  const search = useSearch({ from: '/sign-in' })
  const me = useMe()
  const navigate = useNavigate()
  const goOn = ownPath(search['return-to'])
  const isDone = me !== null && me !== undefined && search.again === undefined
  const goesOn = isDone && search.error === undefined
  useEffect(() => {
    document.title = `${t`Sign in`} · Tollgate`
    // The path includes its search: the router reads it as an address.
    if (goesOn) void navigate({ href: `/console${goOn}`, replace: true })
  }, [goesOn, goOn, navigate, t])
  return (
    <div className="flex min-h-dvh flex-col">
      <main
        id="content"
        className="mx-auto flex w-full max-w-[400px] flex-1 flex-col justify-center gap-5 px-4 py-10"
      >
        <div>
          <p className="text-label text-text-2">Tollgate</p>
          <h1 className="text-title">
            <Trans>Sign in</Trans>
          </h1>
        </div>
        {search.error !== undefined && <Refusal code={search.error} />}
        {isDone ? (
          <a href={`/console${goOn}`} className={buttonClass('primary')}>
            <Trans>Go on as {me.name || me.id}</Trans>
          </a>
        ) : (
          <Ways goOn={goOn} invitation={search.invitation ?? ''} error={search.error} />
        )}
      </main>
      <Choices />
    </div>
  )
}

interface WaysProps {
  readonly goOn: string
  readonly invitation: string
  readonly error: string | undefined
}

function Ways({ goOn, invitation: given, error }: WaysProps) {
  const { t } = useLingui()
  const query = useQuery(read('/api/auth/providers'))
  const [invitation, setInvitation] = useState(given)
  return (
    <Widget query={query} skeleton={<Skeleton rows={2} height={40} />}>
      {({ providers, signUp }) =>
        providers.length === 0 ? (
          <ByLink isInvited={given !== ''} />
        ) : (
          <div className="flex flex-col gap-4">
            {(signUp === 'invite' || given !== '') && (
              <Field
                label={t`Invitation code`}
                hint={t`For those who have no account yet. With an account, leave it empty.`}
                error={
                  error === 'invitation_needed' ? t`Enter the code that you were given.` : undefined
                }
              >
                <Input
                  autoComplete="off"
                  spellCheck={false}
                  value={invitation}
                  onChange={(event) => setInvitation(event.target.value.trim())}
                />
              </Field>
            )}
            <ul className="flex flex-col gap-2">
              {providers.map(({ id, name }) => (
                <li key={id}>
                  <a
                    href={signInAddress(id, goOn, invitation)}
                    className={`${buttonClass('secondary')} min-h-10 w-full`}
                  >
                    <Trans>Continue with {name}</Trans>
                  </a>
                </li>
              ))}
            </ul>
            <Small>
              <Trans>
                The provider is asked who you are: an id, your name and your e-mail address. Nothing
                else, and its tokens are not kept.
              </Trans>{' '}
              {signUp === 'closed' && (
                <Trans>
                  Nobody new can join at the moment. If you have an account, you can sign in.
                </Trans>
              )}
              {signUp === 'open' && (
                <Trans>Who signs in for the first time gets an account of their own.</Trans>
              )}
            </Small>
          </div>
        )
      }
    </Widget>
  )
}

/** If the operator has configured no provider, a link from the machine itself signs in. */
function ByLink({ isInvited }: { readonly isInvited: boolean }) {
  return (
    <div className="flex flex-col gap-3">
      {isInvited && (
        <p role="alert" className="text-warning">
          <Trans>
            Your invitation cannot be accepted yet: no provider is set up here. Tell whoever sent
            it.
          </Trans>
        </p>
      )}
      <p>
        <Trans>
          No provider is set up here: you sign in by a one-time link. Make one on the machine that
          the gateway runs on, and open what it prints:
        </Trans>
      </p>
      <CodeBlock where={null} text="tollgate admin link" />
      <Small>
        <Trans>
          A link works once, for an hour. The gateway prints one as it starts, as long as no
          administrator has signed in. To let others in, name a provider in the configuration.
        </Trans>
      </Small>
    </div>
  )
}

function Small({ children }: { readonly children: ReactNode }) {
  return <p className="text-label font-normal text-text-2">{children}</p>
}

/** Without a signed-in person there is no menu, so language and theme are here. */
function Choices() {
  const { t, i18n } = useLingui()
  const { theme } = usePreferences()
  return (
    <footer className="flex flex-wrap justify-center gap-3 px-4 pb-6">
      <Segments
        label={t`Language`}
        value={i18n.locale === 'zh-CN' ? 'zh-CN' : 'en'}
        options={[
          { value: 'en', label: <span lang="en">English</span> },
          { value: 'zh-CN', label: <span lang="zh-CN">中文</span> },
        ]}
        onChange={(language) => {
          setPreferences({ language })
          void showLanguage()
        }}
      />
      <Segments
        label={t`Theme`}
        value={theme}
        options={[
          { value: 'system', label: <Trans>System</Trans> },
          { value: 'light', label: <Trans>Light</Trans> },
          { value: 'dark', label: <Trans>Dark</Trans> },
        ]}
        onChange={(next) => setPreferences({ theme: next })}
      />
    </footer>
  )
}
