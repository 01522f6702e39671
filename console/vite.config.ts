import { defineConfig } from 'vite'

const management = 'http://localhost:8080'

export default defineConfig({
  build: {
    // Assets must be files: the content security policy of management forbids data: URLs.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  server: {
    host: '127.0.0.1',
    proxy: {
      // Requests for the API only: the console has a source folder named live, too.
      '^/(live/(?!.*\\.(tsx?|css)(\\?|$))|session$)': {
        target: management,
        ws: true,
        changeOrigin: true,
        headers: { origin: management },
      },
    },
  },
})
