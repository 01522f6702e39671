import { defineConfig } from 'vite'

// Builds the console. The development server forwards API requests to a running appliance.

const MANAGEMENT_URL = 'http://localhost:8080'

export default defineConfig({
  build: {
    // Assets must be files, because the content security policy of the management
    // service forbids data: URLs.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  server: {
    host: '127.0.0.1',
    proxy: {
      // Only API requests. The console also has a source folder named live.
      '^/(live/(?!.*\\.(tsx?|css)(\\?|$))|api/|session(/|$))': {
        target: MANAGEMENT_URL,
        ws: true,
        changeOrigin: true,
        headers: { origin: MANAGEMENT_URL },
      },
    },
  },
})
