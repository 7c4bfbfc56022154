import './styles/tokens.css';
import './styles/base.css';
import './styles/controls.css';
import { mount } from 'svelte';
import App from './App.svelte';
import { router } from './lib/router.svelte.ts';

router.start();
mount(App, { target: document.getElementById('app')! });
