// How the console is built: hashed files below /console/, with a manifest that the server and the size check read.

import { lingui, linguiTransformerBabelPreset } from '@lingui/vite-plugin'
import babel from '@rolldown/plugin-babel'
import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

/** `vite dev` passes everything but the console on to a running gateway. */
const gateway = process.env['TOLLGATE_URL'] ?? 'http://127.0.0.1:8787'

export default defineConfig({
  base: '/console/',
  plugins: [
    react(),
    // Not Lingui's native transform: npm leaves its binary out on Node 20.
    babel({ presets: [linguiTransformerBabelPreset()] }),
    lingui(),
    tailwindcss(),
  ],
  build: {
    manifest: 'manifest.json',
    // Data addresses would need a wider content security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    target: 'es2023',
  },
  server: {
    proxy: {
      '/api': { target: gateway, changeOrigin: false },
      '/v1': { target: gateway, changeOrigin: false },
      '/openapi.json': gateway,
    },
  },
})
