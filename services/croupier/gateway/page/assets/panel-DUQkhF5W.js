import{$ as e,A as t,D as n,E as r,G as i,O as a,Q as o,T as s,X as c,Y as l,Z as u,c as d,j as f,k as p,l as m,m as h,nt as g,tt as _,u as v,v as y,x as b}from"./index-D6UmCI5M.js";import{n as x}from"./seat-B2JkhUCg.js";function S({address:e,game:t,seatCount:n,options:r,bots:i,actions:a}){let o=e.protocol===`https:`,s=e.port||(o?`443`:`80`),c=o?`, Tls(AUTHORITY.read_bytes())`:``;return`"""Plays a table as it was recorded in a browser.

The cards are dealt anew, so another seat may be to act, and an action may not be legal: then a legal one takes its
place, of the same verb if there is one.
"""

import secrets
from contextlib import ExitStack
from pathlib import Path
from random import Random

from google.protobuf.json_format import ParseDict

from croupier_api.v1.actions_pb2 import Action
from croupier_client import BlockingClient, BlockingTable, Endpoints, Tls, choose_random_action

# Where \`croupier up\` runs; with --tls the authority is in its data folder.
AUTHORITY = Path.home() / ".local/share/croupier/keys/gateway.authority.pem"


def endpoints() -> Endpoints:
    return Endpoints.single(${C(`${e.hostname}:${s}`)}${c})


GAME = ${C(t)}
SEATS = ${n}
BOTS = ${C(i)}
OPTIONS = ${C(r)}
ACTIONS = [
${a.map(({seat:e,action:t})=>`    (${e}, ${C(t)}),\n`).join(``)}]
WAIT_SECONDS = 30.0


def test_the_recorded_table() -> None:
    with ExitStack() as stack:
        players = [
            stack.enter_context(BlockingClient(endpoints(), secrets.token_urlsafe(), f"Player {number}"))
            for number in range(1, SEATS - len(BOTS) + 1)
        ]
        host, *guests = players
        table = host.create_table(game=GAME, seat_count=SEATS, options=OPTIONS, bots=BOTS).table
        for guest in guests:
            guest.join_table(invite_code=table.invite_code)
        for player in players:
            player.set_ready(table_id=table.table_id)
        seats = [0, *range(1 + len(BOTS), SEATS)]
        tables = {
            seat: stack.enter_context(player.play_table(table.table_id))
            for seat, player in zip(seats, players, strict=True)
        }
        sequence = 0
        for seat, recorded in ACTIONS:
            to_act = wait_for_seats(tables, sequence)
            if not to_act:
                break
            acting = tables[seat if seat in to_act else to_act[0]]
            assert acting.wait_for_turn(timeout_seconds=WAIT_SECONDS)
            sequence = acting.submit_action(choose(acting, ParseDict(recorded, Action())))
        for each in tables.values():
            while each.sequence < sequence:
                each.wait_for_change(timeout_seconds=WAIT_SECONDS)


def wait_for_seats(tables: dict[int, BlockingTable], sequence: int) -> list[int]:
    """Return the players' seats that are to act after an entry of the table; none once the game is over."""
    watched = tables[0]
    while True:
        seen = watched.sequence
        to_act = [seat for seat in watched.view.seats_to_act if seat in tables]
        if watched.is_finished or (seen >= sequence and to_act):
            return to_act
        watched.wait_for_change(after=seen, timeout_seconds=WAIT_SECONDS)


def choose(table: BlockingTable, recorded: Action) -> Action:
    """Return the recorded action if it is listed as legal, else a legal one, of the same verb if there is one."""
    legal = [*table.legal_actions.actions, *(choose_random_action(table, Random(seed)) for seed in range(20))]
    alike = [action for action in legal if action.WhichOneof("verb") == recorded.WhichOneof("verb")]
    return recorded if recorded in legal else (alike or legal)[0]
`}function C(e){return e===null?`None`:typeof e==`boolean`?e?`True`:`False`:typeof e==`object`?e instanceof Array?`[${e.map(C).join(`, `)}]`:`{${Object.entries(e).map(([e,t])=>`${C(e)}: ${C(t)}`).join(`, `)}}`:JSON.stringify(e)}function w({label:t,placeholder:n,write:r}){let i=u(null),[a,o]=e(!1);return b(_,{children:[b(`button`,{type:`button`,onClick:()=>{i.current!==null&&(i.current.value=r(),i.current.select(),o(document.execCommand(`copy`)))},children:t}),b(`textarea`,{ref:i,readOnly:!0,rows:3,placeholder:n,spellcheck:!1}),a&&b(`p`,{role:`status`,children:`Copied`})]})}var T=36e5;async function E(e,n){let r=[];for(let i=1;i<=n;i+=1)r.push(await t(e,{name:`Seat ${i}`,store:x(i),language:`en`}));return r}function D([e]){if(e===void 0)throw Error(`no players`);return e}async function O(e,t,a){let o=Math.max(t.minSeats,Math.min(e.length,t.maxSeats)),s=e.slice(0,o),c=D(s),l={actionTime:i(T),botDelay:i(500)},u=await p(c,{game:t.game,seats:o,bots:o-s.length,options:a,timeControl:l}),{inviteCode:d}=await r(c,{tableId:u});for(let e of s.slice(1))await n(e,{inviteCode:d});for(let e of s)await e.lobby.setReady({tableId:u},f(u));return r(c,{tableId:u})}function k({games:t,deal:n}){let[r,i]=e(t[0]?.game),[a,o]=e({}),c=t.find(e=>e.game===r);if(c===void 0)return null;let l=e=>{i(e),o({})};return b(`form`,{onSubmit:e=>{e.preventDefault(),n(c,a)},children:[b(`div`,{class:`dev-row`,children:[b(`select`,{"aria-label":`Game`,value:r,onChange:({currentTarget:e})=>l(e.value),children:t.map(e=>b(`option`,{value:e.game,children:e.name},e.game))}),b(`button`,{type:`submit`,children:`New table`})]}),c.options.length>0&&b(`details`,{children:[b(`summary`,{children:`Options`}),b(v,{game:c,words:new s(c,`en`),options:a,change:o})]})]})}var A=500,j=5e3,M=class{changed;entries=new Map;taken=new Map;count=0;constructor(e){this.changed=e}get actions(){return[...this.taken].sort(([e],[t])=>e-t).map(([,e])=>e)}clear(){this.entries.clear(),this.taken.clear()}of(e){return this.entries.get(e)??[]}message(e,{isSent:t,json:n}){let r=`${t?`→`:`←`} ${N(n)}`,i={number:this.count+=1,time:new Date,title:r,text:JSON.stringify(n,null,2)};this.entries.set(e,[i,...this.of(e)].slice(0,A)),this.changed()}action(e,{sequence:t,action:n}){this.taken.size<j&&this.taken.set(t,{page:e,action:n}),this.changed()}};function N(e){if(typeof e!=`object`||!e||Array.isArray(e))return``;let{tableEvent:t,...n}=e;return[t??{},n].flatMap(e=>Object.keys(e)).join(`, `)}var P={isCut:!1,delayMilliseconds:0},F=class{recording=new M(()=>this.changed());lines=new Map;switches=new Map;changed=()=>{};subscribe(e){return this.changed=e,()=>void(this.changed=()=>{})}attach(e,t){t.set(this.of(e)),this.lines.set(e,t)}recorder(e){return{message:t=>this.recording.message(e,t),action:t=>this.recording.action(e,t)}}of(e){return this.switches.get(e)??P}set(e,t){let n={...this.of(e),...t};this.switches.set(e,n),this.lines.get(e)?.set(n),this.changed()}},I=360,L=[[0,`no delay`],[300,`300 ms`],[2e3,`2 s`]];function R({page:e,tableId:t,lines:n}){let r=u(null),{isCut:i,delayMilliseconds:a}=n.of(e);return z(r),b(`section`,{class:`dev-seat`,"aria-label":`Seat ${e}`,"data-cut":i,children:[b(`header`,{children:[b(`b`,{children:e}),b(`button`,{type:`button`,"aria-pressed":i,onClick:()=>n.set(e,{isCut:!i}),children:i?`Heal`:`Cut`}),b(`select`,{"aria-label":`Delay in each direction`,value:a,onChange:({currentTarget:t})=>n.set(e,{delayMilliseconds:Number(t.value)}),children:L.map(([e,t])=>b(`option`,{value:e,children:t},e))}),b(`button`,{type:`button`,onClick:()=>r.current?.contentWindow?.location.reload(),children:`Kill`})]}),b(`div`,{class:`dev-page`,children:b(`iframe`,{ref:r,title:`The page of seat ${e}`,src:`./?seat=${e}${d({screen:`table`,id:t,link:``})}`})})]})}function z(e){c(()=>{let t=e.current?.parentElement;if(!t)return;let n=new ResizeObserver(()=>e.current?.style.setProperty(`--scale`,`${Math.min(1,t.clientWidth/I)}`));return n.observe(t),()=>n.disconnect()},[])}function B({pages:e,shown:t,show:n,entries:r}){return b(_,{children:[b(`div`,{class:`dev-row`,role:`group`,"aria-label":`The stream of seat`,children:e.map(e=>b(`button`,{type:`button`,"aria-pressed":e===t,onClick:()=>n(e),children:e},e))}),b(`ol`,{class:`dev-stream`,children:r.map(({number:e,time:t,title:n,text:r})=>b(`li`,{children:b(`details`,{children:[b(`summary`,{children:[b(`time`,{children:t.toLocaleTimeString(`en-GB`)}),` `,n]}),b(`pre`,{children:r})]})},e))})]})}var V=2,H=8;function U(e,t){let n=Math.max(V,Math.min(t,H)),r=new F;window.croupierPanel=r,g(b(W,{count:n,lines:r}),e)}function W({count:t,lines:n}){let{entered:r,table:i,fault:a,deal:s}=G(t,n),[c,u]=e(1),[,d]=o(e=>e+1,0);l(()=>n.subscribe(()=>d()),[n]);let f=Array.from({length:t},(e,t)=>t+1),{recording:p}=n;return b(`div`,{class:`dev`,children:[b(`div`,{class:`dev-seats`,"data-columns":Math.min(t,4),children:[r&&!i&&b(`p`,{class:`dev-hint`,children:`Choose a game and open a new table.`}),r&&i&&f.filter(e=>J(r,i,e)>=0).map(e=>b(R,{page:e,tableId:i.tableId,lines:n},`${i.tableId} ${e}`))]}),b(`aside`,{class:`dev-panel`,children:[r?b(k,{games:r.games,deal:s}):b(`p`,{role:`status`,children:`Signing in…`}),a!==``&&b(`p`,{role:`alert`,class:`fault`,children:a}),r&&i&&b(w,{label:`Copy as test (${p.actions.length} actions)`,placeholder:`A test in Python, of the actions so far`,write:()=>Y(r,i,p)},i.tableId),b(B,{pages:f,shown:c,show:u,entries:p.of(c)})]})]})}function G(t,{recording:n}){let[r,i]=e(),[a,o]=e(),[s,c]=e(``),u=e=>c(y(e,void 0,h(`en`))),f=e=>{e!==void 0&&(n.clear(),history.replaceState(null,``,d({screen:`table`,id:e.tableId,link:``})),c(``),o(e))};return l(()=>{K(t).then(e=>(i(e),q(e))).then(f).catch(u)},[t]),{entered:r,table:a,fault:s,deal:(e,t)=>r&&void O(r.connections,e,t).then(f,u)}}async function K(e){let t=await E(location.origin,e),{games:n}=await a(D(t),e);return{connections:t,games:n}}async function q({connections:e,games:t}){let n=m(location.hash);if(n.screen===`table`)return r(D(e),{tableId:n.id});let i=n.screen===`new`?t.find(e=>e.game===n.game):void 0;return i&&O(e,i,{})}function J({connections:e},{seats:t},n){return t.findIndex(({playerId:t})=>t===e[n-1]?.session.player.playerId)}function Y(e,t,n){let{game:r,options:i={},seats:a}=t,o=n.actions.map(({page:n,action:r})=>({seat:J(e,t,n),action:r})),s=a.flatMap(({bot:e})=>e===``?[]:[e]);return S({address:new URL(location.origin),game:r,seatCount:a.length,options:i,bots:s,actions:o})}export{U as showPanel};