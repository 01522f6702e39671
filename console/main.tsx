import { render } from 'preact'
import { loadSession } from './api/user-session.ts'
import { App } from './app.tsx'
import './ui/tokens.css'
import './ui/base.css'

void loadSession()
render(<App />, document.getElementById('console')!)
