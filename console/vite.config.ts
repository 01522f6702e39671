import { defineConfig } from 'vite'

const management = 'http://localhost:8080'

export default defineConfig({
  build: {
    // Files, not data: URLs: the content security policy allows the console's own files alone.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  server: {
    host: '127.0.0.1',
    proxy: {
      // Not the console's own folder of that name.
      '^/(live/(?!.*\\.(tsx?|css)(\\?|$))|session$)': {
        target: management,
        ws: true,
        changeOrigin: true,
        headers: { origin: management },
      },
    },
  },
})
