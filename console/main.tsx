import { render } from 'preact'
import { loadSession } from './api/user-session.ts'
import { App } from './app.tsx'
import './ui/tokens.css'
import './ui/base.css'

// The entry point of the console. The page shows that it is connecting until the session is loaded.
void loadSession()
render(<App />, document.getElementById('console')!)
