// The coding agents: how each is configured for a gateway and run without a terminal.

import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { OfferedTool } from './work.ts'
import { pictureFile, resultFile } from './work.ts'

/** The folders and the gateway of one run. */
export interface Place {
  /** The folder of the agent's own settings and state. */
  readonly home: string
  /** The working folder. */
  readonly folder: string
  /** The gateway's address, without a slash at its end. */
  readonly url: string
  readonly key: string
  /** The folder in which the agents are installed. */
  readonly installed: string
}

export interface Command {
  readonly words: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

export interface Agent {
  readonly name: string
  /** The name in `versions.json`; it is installed in a folder of this name. */
  readonly package: string
  /** The format in which it calls the gateway. */
  readonly speaks: string
  readonly model: string
  /** How it is shown a picture: by a part of its command, or by a tool that reads the file; null: it cannot be. */
  readonly sees: 'attached' | 'read' | null
  /** Without tools its model writes files in its answer. */
  readonly writesBy: 'tool' | 'text'
  command(prompt: string, place: Place, picture: boolean): Command
  /** A tool that must be among those offered, which shows that the agent's defaults are in force. */
  readonly offers?: (tools: readonly OfferedTool[]) => boolean
}

export const anyModel = 'agent-model'

function write(path: string, content: object | string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content, null, 2))
}

const binary = (place: Place, from: string, name: string) =>
  join(place.installed, from, 'node_modules', '.bin', name)

const claudeCode: Agent = {
  name: 'Claude Code',
  package: '@anthropic-ai/claude-code',
  speaks: 'anthropic-messages',
  model: anyModel,
  sees: 'read',
  writesBy: 'tool',
  command: (prompt, place) => ({
    words: [
      binary(place, '@anthropic-ai/claude-code', 'claude'),
      ...['--print', prompt, '--model', anyModel, '--dangerously-skip-permissions'],
    ],
    env: {
      ANTHROPIC_BASE_URL: place.url,
      ANTHROPIC_AUTH_TOKEN: place.key,
      ANTHROPIC_DEFAULT_HAIKU_MODEL: anyModel,
      ANTHROPIC_SMALL_FAST_MODEL: anyModel,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      CLAUDE_CODE_MAX_RETRIES: '2',
      // As root, its option not to ask for permission works only in a sandbox.
      IS_SANDBOX: '1',
    },
  }),
}

/** One entry for each set of tools that Codex has, which depends on the model's name. */
function codex(name: string, model: string, tool: string): Agent {
  return {
    name,
    package: '@openai/codex',
    speaks: 'openai-responses',
    model,
    sees: 'attached',
    writesBy: 'tool',
    offers: (tools) => tools.some((each) => each.name.endsWith(tool)),
    command(prompt, place, picture) {
      write(
        join(place.home, '.codex', 'config.toml'),
        [
          `model = "${model}"`,
          'model_provider = "tollgate"',
          '[model_providers.tollgate]',
          'name = "Tollgate"',
          `base_url = "${place.url}/v1"`,
          'env_key = "TOLLGATE_KEY"',
          'wire_api = "responses"',
          'request_max_retries = 1',
          'stream_max_retries = 1',
          '[analytics]',
          'enabled = false',
          '',
        ].join('\n'),
      )
      const attached = picture ? ['--image', pictureFile] : []
      return {
        words: [
          binary(place, '@openai/codex', 'codex'),
          ...['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox'],
          ...[prompt, ...attached],
        ],
        env: { TOLLGATE_KEY: place.key },
      }
    },
  }
}

const geminiCli: Agent = {
  name: 'Gemini CLI',
  package: '@google/gemini-cli',
  speaks: 'gemini',
  model: anyModel,
  sees: 'attached',
  writesBy: 'tool',
  command(prompt, place, picture) {
    write(join(place.home, '.gemini', 'settings.json'), {
      security: { auth: { selectedType: 'gemini-api-key' } },
      privacy: { usageStatisticsEnabled: false },
      telemetry: { enabled: false },
      general: { enableAutoUpdate: false, enableAutoUpdateNotification: false, maxAttempts: 2 },
    })
    const asked = picture ? `${prompt} @${pictureFile}` : prompt
    return {
      words: [
        binary(place, '@google/gemini-cli', 'gemini'),
        ...['--model', anyModel, '--yolo', '--skip-trust', '--prompt', asked],
      ],
      env: { GOOGLE_GEMINI_BASE_URL: place.url, GEMINI_API_KEY: place.key },
    }
  },
}

const opencode: Agent = {
  name: 'opencode',
  package: 'opencode-ai',
  speaks: 'openai-chat',
  model: anyModel,
  sees: 'attached',
  writesBy: 'tool',
  command(prompt, place, picture) {
    const model = {
      name: 'Agent model',
      attachment: true,
      modalities: { input: ['text', 'image'], output: ['text'] },
      limit: { context: 128_000, output: 8_000 },
    }
    const options = { baseURL: `${place.url}/v1`, apiKey: place.key }
    write(join(place.folder, 'opencode.json'), {
      autoupdate: false,
      share: 'disabled',
      permission: 'allow',
      enabled_providers: ['tollgate'],
      model: `tollgate/${anyModel}`,
      small_model: `tollgate/${anyModel}`,
      provider: {
        tollgate: {
          npm: '@ai-sdk/openai-compatible',
          name: 'Tollgate',
          options,
          models: { [anyModel]: model },
        },
      },
    })
    const attached = picture ? ['--file', pictureFile] : []
    return {
      words: [binary(place, 'opencode-ai', 'opencode'), 'run', prompt, ...attached],
      env: {
        OPENCODE_DISABLE_AUTOUPDATE: '1',
        OPENCODE_DISABLE_MODELS_FETCH: '1',
        OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
      },
    }
  },
}

const continueCli: Agent = {
  name: 'Continue',
  package: '@continuedev/cli',
  speaks: 'openai-chat',
  model: anyModel,
  sees: null,
  writesBy: 'tool',
  command(prompt, place) {
    const file = join(place.home, 'continue.yaml')
    // JSON is valid YAML.
    write(file, {
      name: 'agents',
      version: '1.0.0',
      schema: 'v1',
      models: [
        {
          name: anyModel,
          provider: 'openai',
          model: anyModel,
          apiBase: `${place.url}/v1`,
          apiKey: place.key,
          roles: ['chat'],
          capabilities: ['tool_use', 'image_input'],
        },
      ],
    })
    return {
      words: [
        binary(place, '@continuedev/cli', 'cn'),
        '--config',
        file,
        '--auto',
        '--print',
        prompt,
      ],
      env: { CONTINUE_TELEMETRY_ENABLED: '0', CONTINUE_METRICS_ENABLED: '0' },
    }
  },
}

const cline: Agent = {
  name: 'Cline',
  package: 'cline',
  speaks: 'openai-chat',
  model: anyModel,
  sees: null,
  writesBy: 'tool',
  command(prompt, place) {
    write(join(place.home, '.cline', 'data', 'settings', 'providers.json'), {
      version: 1,
      lastUsedProvider: 'openai-compatible',
      providers: {
        'openai-compatible': {
          settings: {
            provider: 'openai-compatible',
            apiKey: place.key,
            model: anyModel,
            baseUrl: `${place.url}/v1`,
          },
          updatedAt: '2026-01-01T00:00:00.000Z',
          tokenSource: 'manual',
        },
      },
    })
    return {
      words: [
        binary(place, 'cline', 'cline'),
        ...['--provider', 'openai-compatible', '--model', anyModel, '--retries', '1', prompt],
      ],
      env: { CLINE_TELEMETRY_DISABLED: '1' },
    }
  },
}

const aider: Agent = {
  name: 'aider',
  package: 'aider-chat',
  speaks: 'openai-chat',
  model: anyModel,
  sees: null,
  writesBy: 'text',
  command: (prompt, place) => ({
    words: [
      join(place.installed, 'aider-chat', 'bin', 'aider'),
      ...['--model', `openai/${anyModel}`, '--edit-format', 'whole', '--no-git', '--yes-always'],
      ...['--no-check-update', '--analytics-disable', '--no-show-model-warnings'],
      ...['--no-show-release-notes', '--no-detect-urls', '--no-fancy-input', '--no-pretty'],
      ...['--no-suggest-shell-commands', '--message', prompt, resultFile],
    ],
    env: {
      OPENAI_API_BASE: `${place.url}/v1`,
      OPENAI_API_KEY: place.key,
      // Its prices are given, so it looks none up.
      LITELLM_LOCAL_MODEL_COST_MAP: 'True',
    },
  }),
}

const qwenCode: Agent = {
  name: 'Qwen Code',
  package: '@qwen-code/qwen-code',
  speaks: 'openai-chat',
  model: anyModel,
  sees: 'attached',
  writesBy: 'tool',
  command(prompt, place, picture) {
    write(join(place.home, '.qwen', 'settings.json'), {
      security: { auth: { selectedType: 'openai' } },
      privacy: { usageStatisticsEnabled: false },
      general: { enableAutoUpdate: false },
      modelProviders: {
        openai: [
          {
            id: anyModel,
            envKey: 'TOLLGATE_KEY',
            baseUrl: `${place.url}/v1`,
            generationConfig: { modalities: { image: true } },
          },
        ],
      },
    })
    const asked = picture ? `${prompt} @${pictureFile}` : prompt
    return {
      words: [
        binary(place, '@qwen-code/qwen-code', 'qwen'),
        ...['--yolo', '--model', anyModel, '--prompt', asked],
      ],
      env: { TOLLGATE_KEY: place.key },
    }
  },
}

/** One entry for each format that it can be configured to use. */
function copilot(name: string, speaks: string, env: Readonly<Record<string, string>>): Agent {
  return {
    name,
    package: '@github/copilot',
    speaks,
    model: anyModel,
    sees: 'attached',
    writesBy: 'tool',
    command(prompt, place, picture) {
      const attached = picture ? ['--attachment', pictureFile] : []
      return {
        words: [
          binary(place, '@github/copilot', 'copilot'),
          ...['--allow-all-tools', '--no-auto-update', '--no-color'],
          ...['--prompt', prompt, ...attached],
        ],
        env: {
          COPILOT_PROVIDER_BASE_URL: `${place.url}/v1`,
          COPILOT_PROVIDER_API_KEY: place.key,
          COPILOT_MODEL: anyModel,
          ...env,
        },
      }
    },
  }
}

/** One entry for each format that it can be configured to use. */
function pi(api: string, speaks: string, path: string): Agent {
  return {
    name: `pi, ${api}`,
    package: '@mariozechner/pi-coding-agent',
    speaks,
    model: anyModel,
    sees: 'attached',
    writesBy: 'tool',
    command(prompt, place, picture) {
      write(join(place.home, '.pi', 'agent', 'models.json'), {
        providers: {
          tollgate: {
            baseUrl: `${place.url}${path}`,
            api,
            apiKey: 'TOLLGATE_KEY',
            models: [{ id: anyModel, reasoning: true, input: ['text', 'image'] }],
          },
        },
      })
      const attached = picture ? [`@${pictureFile}`] : []
      return {
        words: [
          binary(place, '@mariozechner/pi-coding-agent', 'pi'),
          ...['--provider', 'tollgate', '--model', anyModel, '--offline', '--print'],
          ...[...attached, prompt],
        ],
        env: { TOLLGATE_KEY: place.key },
      }
    },
  }
}

/** One entry for each format that it can be configured to use. */
function kimi(type: string, speaks: string, path: string): Agent {
  return {
    name: `Kimi Code, ${type}`,
    package: '@moonshot-ai/kimi-code',
    speaks,
    model: anyModel,
    sees: null,
    writesBy: 'tool',
    command: (prompt, place) => ({
      // It needs a newer Node than most machines have, and runs on Bun.
      words: [
        ...[process.execPath, '--bun', binary(place, '@moonshot-ai/kimi-code', 'kimi')],
        ...['--prompt', prompt],
      ],
      env: {
        KIMI_MODEL_NAME: anyModel,
        KIMI_MODEL_PROVIDER_TYPE: type,
        KIMI_MODEL_BASE_URL: `${place.url}${path}`,
        KIMI_MODEL_API_KEY: place.key,
        KIMI_CODE_NO_AUTO_UPDATE: '1',
      },
    }),
  }
}

export const agents: readonly Agent[] = [
  claudeCode,
  codex('Codex', 'gpt-6-sol', 'exec'),
  codex('Codex, patching', 'gpt-5.5', 'apply_patch'),
  codex('Codex, unknown model', anyModel, 'exec_command'),
  geminiCli,
  opencode,
  continueCli,
  cline,
  aider,
  qwenCode,
  copilot('Copilot', 'openai-chat', {}),
  copilot('Copilot, responses', 'openai-responses', { COPILOT_PROVIDER_WIRE_API: 'responses' }),
  pi('openai-completions', 'openai-chat', '/v1'),
  pi('openai-responses', 'openai-responses', '/v1'),
  pi('anthropic-messages', 'anthropic-messages', ''),
  pi('google-generative-ai', 'gemini', '/v1beta'),
  kimi('kimi', 'openai-chat', '/v1'),
  kimi('openai', 'openai-chat', '/v1'),
  kimi('openai_responses', 'openai-responses', '/v1'),
  kimi('anthropic', 'anthropic-messages', ''),
  kimi('google-genai', 'gemini', ''),
]
